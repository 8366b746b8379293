"""Reports in a browser: how tests open one, and what they ask of it."""

import base64

from selenium.webdriver.common.by import By

from conftest import wait_until  # isort: skip


def show(driver, page, fragment=""):
    """Open a page anew, and wait until its rows are there."""
    driver.get("about:blank")  # else another fragment would not load the page again
    driver.get_log("performance")  # what the browser did for itself, before
    driver.get(page.as_uri() + fragment)
    wait_until(lambda: driver.execute_script("return 'ready' in document.documentElement.dataset"))


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def every(driver, selector):
    return driver.find_elements(By.CSS_SELECTOR, selector)


def found(driver):
    """How many rows pass the filters."""
    return int(one(driver, "#found").text.split()[0].replace(",", ""))


def column(driver, title):
    """What the visible cells of a column say, from the top."""
    heads = [head.text.lower() for head in every(driver, "#table [role=columnheader]")]
    place = heads.index(title) + 1
    cells = driver.execute_script(
        "return [...document.querySelectorAll('.body .tr')].map((row) => "
        f"row.querySelector(':nth-child({place})').textContent)"
    )
    return [None if cell == "–" else float(cell.replace("−", "-")) for cell in cells]


def choose(driver, name, value):
    """Pick an option, or paste into a field, as a person would."""
    field = one(driver, f"#filters [name={name}]")
    if field.tag_name == "select":
        one(field, f"option[value='{value}']").click()
    else:
        # At once: a slow machine filters after every few letters, and draws the rows anew.
        driver.execute_script(
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            field,
            value,
        )


def whole_page(driver, file):
    """A picture of all of the page, with every chart drawn."""
    width, height = driver.execute_script(
        "const page = document.documentElement; return [innerWidth, page.scrollHeight]"
    )
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait_until(lambda: all(every(chart, "svg") for chart in every(driver, ".chart")))
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    file.write_bytes(base64.b64decode(taken["data"]))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": 900})
