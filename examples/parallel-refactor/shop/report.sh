#!/bin/sh

# Prints what a basket costs: sh report.sh 120 80

. ./lib.sh

echo "total: $(calc_sum "$@") cents"
