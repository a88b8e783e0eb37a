//go:build tools

// Package tools names the command that this module builds.
package tools

import (
	_ "sigs.k8s.io/karpenter/kwok"
)
