"""The pages for operating a scheduler: health, metrics, configuration, contents."""
