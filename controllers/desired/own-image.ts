// The operator's own image of each major of PostgreSQL.

export type Images = Readonly<Record<number, string>>;

/** Also where the instances have an image of the user's: for Pods that hold keys which that image must not see. */
export function ownImage(images: Images, major: number): string {
  const image = images[major];
  if (image === undefined) throw new Error(`this operator has no image for PostgreSQL ${major}: set spec.image`);
  return image;
}
