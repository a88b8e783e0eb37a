"""Pages in a browser: headless Chromium, driven by Selenium.

The browser and its driver must be installed, for example as Debian's packages
``chromium`` and ``chromium-driver``; nothing is downloaded. Without them these tests
are skipped. All tests of the folder have the marker ``browser``.
"""
