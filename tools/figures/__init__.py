"""Parts of tools/figures.py: the table of measurements, the machine, the page."""
