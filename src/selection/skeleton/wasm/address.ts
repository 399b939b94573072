/** The address of an entry of a column. */
@inline
export function entry(column: usize, index: u32, bytes: usize): usize {
  return column + <usize>index * bytes
}
