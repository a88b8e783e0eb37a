"""The part of Go's text/template that scheduler_perf's templates use."""
