#!/bin/sh

# Adds up prices in cents.

calc_sum() {
    sum=0
    for price in "$@"; do
        sum=$((sum + price))
    done
    echo "$sum"
}
