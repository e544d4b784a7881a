package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What the kernel counts /proc/self/stat in, on every machine that Go runs on.
const tick = 10 * time.Millisecond

// processStart is when the kernel started this process, to 10 ms: what Go and the packages need until main begins
// counts as well.
func processStart() (time.Time, error) {
	fields, err := procFields("/proc/self/stat")
	if err != nil {
		return time.Time{}, err
	}
	// The name in parentheses may have spaces; ours has none. The start is field 22, after the boot of the machine.
	ticks, err := strconv.ParseInt(fields[21], 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the start in /proc/self/stat: %w", err)
	}
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return time.Time{}, fmt.Errorf("reading the clock since boot: %w", err)
	}
	age := time.Duration(sinceBoot.Nano()) - time.Duration(ticks)*tick
	return time.Now().Add(-age), nil
}

// residentBytes is the memory that this process has now, or 0 when the kernel does not say.
func residentBytes() int64 {
	fields, err := procFields("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

func procFields(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	return strings.Fields(string(text)), err
}
