#!/bin/bash
# Starts $CHROMIUM without the two pages that it makes for its address bar, in each window anew: they
# take as long as a page of the console does. Other features stay as playwright-core turns them off.
off=--disable-features=
exec "$CHROMIUM" "${@/#$off/${off}WebUIOmniboxPopup,WebUIOmniboxAimPopup,}"
