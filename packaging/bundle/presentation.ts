// What a catalog of operators shows of ours.

export const summary =
  "Runs PostgreSQL with replicas, failover, an archive, backups and restores, and keeps the data when something is deleted.";

export const description = `Runs PostgreSQL for people who are not database administrators, and does not lose their data.

* **Ten lines of YAML** make a database with replicas. An application finds host, user, password and certificate in one Secret.
* **Failover** takes seconds and does not need the operator.
* **Settings, image, resources, instances and disk size** change while the database serves. Image and settings are tried in a Pod of their own first.
* **Backups** are read back and checked before they count as good. **Restores** go to the second that you name, into a new database or in place.
* **Deleting a SampleDB keeps its data**, unless the spec says otherwise. Removing the operator leaves every database running.
* **An upgrade of the operator restarts no database.**

Not part of this version: upgrades from one PostgreSQL major to the next.
`;

/** A cylinder, as databases are drawn. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><g fill="#336791" stroke="#fff" stroke-width="2"><path d="M8 14v36c0 5 11 9 24 9s24-4 24-9V14z"/><ellipse cx="32" cy="14" rx="24" ry="9"/><path d="M8 26c0 5 11 9 24 9s24-4 24-9M8 38c0 5 11 9 24 9s24-4 24-9" fill="none"/></g></svg>`;
