package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// diskFolder holds one file for each volume. Every function can be repeated after a crash at any point.
type diskFolder struct {
	directory string
	prefix    string
}

func (d diskFolder) file(volume string) string {
	return filepath.Join(d.directory, d.prefix+volume+".img")
}

// attach makes the file where it is missing, and a loop device on it, and says which device.
func (d diskFolder) attach(volume string, bytes int64) (string, error) {
	file, err := os.OpenFile(d.file(volume), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := enlarge(file, bytes); err != nil {
		return "", err
	}
	device, err := d.device(volume)
	if err != nil || device != "" {
		return device, err
	}
	return losetup("--find", "--show", d.file(volume))
}

// grow enlarges the disk under a mounted file system, which does not notice until it is grown itself.
func (d diskFolder) grow(volume string, bytes int64) error {
	file, err := os.OpenFile(d.file(volume), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := enlarge(file, bytes); err != nil {
		return err
	}
	device, err := d.device(volume)
	if err != nil {
		return err
	}
	_, err = losetup("--set-capacity", device)
	return err
}

// remove frees the device and the file. A device that is still mounted goes when its last mount does.
func (d diskFolder) remove(volume string) error {
	device, err := d.device(volume)
	if err != nil {
		return err
	}
	if device != "" {
		if _, err := losetup("--detach", device); err != nil {
			return err
		}
	}
	if err := os.Remove(d.file(volume)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// device is empty when the file has none, or is gone.
func (d diskFolder) device(volume string) (string, error) {
	if _, err := os.Stat(d.file(volume)); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return losetup("--noheadings", "--output", "NAME", "--associated", d.file(volume))
}

// enlarge never shrinks: a stale request must not cut off what is stored.
func enlarge(file *os.File, bytes int64) error {
	info, err := file.Stat()
	if err != nil || info.Size() >= bytes {
		return err
	}
	return file.Truncate(bytes)
}

func losetup(args ...string) (string, error) {
	output, err := exec.Command("losetup", args...).CombinedOutput()
	text := strings.TrimSpace(string(output))
	if err != nil {
		return "", fmt.Errorf("losetup %s: %w: %s", strings.Join(args, " "), err, text)
	}
	return text, nil
}
