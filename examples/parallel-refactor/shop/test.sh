#!/bin/sh

. ./lib.sh

[ "$(calc_sum 1 2 3)" = 6 ] || { echo "the sum is wrong"; exit 1; }
[ "$(sh report.sh 120 80)" = "total: 200 cents" ] || { echo "the report is wrong"; exit 1; }
echo "2 tests passed"
