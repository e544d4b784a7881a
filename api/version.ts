// The group and version that the kinds are served under.
export const group = "sampledb.io";
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;
