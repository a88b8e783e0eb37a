"""Public questions about scheduling, as input and right answer.

One folder per question.
"""
