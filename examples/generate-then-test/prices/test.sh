#!/bin/sh

. ./prices.sh

[ "$price_apple" = 120 ] || { echo "the apple costs $price_apple"; exit 1; }
[ "$price_plum" = 45 ] || { echo "the plum costs $price_plum"; exit 1; }
echo "2 tests passed"
