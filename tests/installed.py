"""Packages that are installed as far as their metadata says, in a folder in front of the others."""


def pretend_installed(folder, name, version, *requirements):
    """Have a folder say that a package is installed; what is imported is another one, if any."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
    metadata.write_text("\n".join(lines) + "\n")
    return folder
