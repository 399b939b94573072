/**
 * What a FeatureCollection says of features that it does not have. A server cuts an answer off at some thousand
 * features, and says so beside them.
 *
 * @module
 */

/** Whether the server that wrote a collection has more features, as ArcGIS, OGC API Features, api.weather.gov and Hickory say it. */
export function hasFurtherPages(collection: object): boolean {
  const { properties, metadata, links, pagination } = collection as Readonly<
    Record<string, unknown>
  >
  return (
    [collection, properties, metadata].some(
      (said) => valueIn(said, 'exceededTransferLimit') === true,
    ) ||
    (Array.isArray(links) && links.some((link) => valueIn(link, 'rel') === 'next')) ||
    typeof valueIn(pagination, 'next') === 'string' ||
    typeof valueIn(collection, 'NextAfter') === 'string'
  )
}

function valueIn(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null
    ? (object as Readonly<Record<string, unknown>>)[name]
    : undefined
}
