#!/bin/sh
# Installs packages into an image layer and removes everything that only the installation needs.
set -eu
export DEBIAN_FRONTEND=noninteractive

apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@"

apt-get clean
rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /tmp/* /var/lib/dpkg/*-old /var/lib/ucf/*.[0-9] /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow-
