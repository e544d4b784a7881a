#!/bin/sh
# The first commands of a machine, run in its new namespaces: a machine sees the file system of its host, but for /run,
# /tmp and /var, which are its own, so that nothing it does outlives it anywhere else.
#   machine.sh CLUSTER MACHINE DIRECTORY PROGRAMS VOLUMES
set -eu
cluster=$1 machine=$2 directory=$3 programs=$4 volumes=$5

mount --make-rshared / # mounts that a container shares reach its node, as the kubelet expects, and stop there

# /run is put together beside its place, because what goes into it may lie below what is about to be covered.
mkdir -p "$directory/run" "$directory/etc" "$directory/var/lib" "$directory/var/log" "$directory/var/tmp"
mount -t tmpfs -o mode=755 tmpfs "$directory/run"
mkdir -p "$directory/run/sampledb/bin" "$directory/run/sampledb/etc" "$directory/run/sampledb/volumes" "$directory/run/netns"
mount --bind -o ro "$programs" "$directory/run/sampledb/bin"
mount --bind "$directory/etc" "$directory/run/sampledb/etc"
mount --bind "$volumes" "$directory/run/sampledb/volumes"
ln -sfn /run "$directory/var/run"
mount --rbind "$directory/run" /run
mount --rbind "$directory/var" /var
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t proc proc /proc

# The kubelet sets these for the whole kernel; it finds them set as it wants them, and writes to files of its own.
mkdir -p /run/sampledb/sysctl
while read -r name value; do
  echo "$value" >"/run/sampledb/sysctl/$name"
  mount --bind "/run/sampledb/sysctl/$name" "/proc/sys/$(echo "$name" | tr . /)"
done <<SYSCTLS
vm.overcommit_memory 1
vm.panic_on_oom 0
kernel.panic 10
kernel.panic_on_oops 1
kernel.keys.root_maxkeys 1000000
kernel.keys.root_maxbytes 25000000
SYSCTLS

hostname "$machine"
ip link set lo up
sysctl -q -w net.ipv4.ip_forward=1

# The arguments are how the machine is found again in the process list.
exec /run/sampledb/bin/pause machine "$cluster" "$machine"
