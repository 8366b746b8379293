"""Its folder is on the path of the tests below it, which share the modules beside this one."""
