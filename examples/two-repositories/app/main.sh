#!/bin/sh

. ../library/greeting.sh

greet "$(id -un)"
