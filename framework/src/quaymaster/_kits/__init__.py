"""What plugins build on: volumes, devices, preemption, indexes."""
