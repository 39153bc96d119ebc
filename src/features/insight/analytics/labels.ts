import type { AnalyticsBreakdownDimension } from '../../../platform/db/tables.generated.ts';

const COUNTRIES = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** Returns the display name of a country. @param code ISO 3166-1, or ZZ. */
export const countryName = (code: string): string =>
  /^[A-Z]{2}$/.test(code) && code !== 'ZZ' ? (COUNTRIES.of(code) ?? code) : 'Unknown';

/** Returns the display name of a dimension value. */
export function labelOf(dimension: AnalyticsBreakdownDimension, value: string): string {
  if (dimension === 'country') return countryName(value);
  if (dimension === 'quality') return `${value}p`;
  if (value === '') return dimension === 'referrer' ? 'Direct' : 'Unknown';
  if (dimension === 'device' && value === 'TV') return value;
  return dimension === 'device' || dimension === 'source'
    ? `${value[0]}${value.slice(1).toLowerCase()}`
    : value;
}
