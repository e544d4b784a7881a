// For tests: the arguments of setpriv that make a command run as a user who is not root. The one thing that this user
// may do is read every file, because the checkout under test may lie in a folder that is root's alone.
export const asNobody: readonly string[] = [
  "--reuid=65534",
  "--regid=65534",
  "--clear-groups",
  "--inh-caps=+dac_read_search",
  "--ambient-caps=+dac_read_search",
];
