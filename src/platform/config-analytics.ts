import { ConfigError, integer, type Key, type TrustProxy, text } from './config-parsers.ts';

/** Configuration keys of analytics and usage. */
export const ANALYTICS_KEYS = {
  ANALYTICS_RAW_DAYS: integer(
    'Days to retain raw usage events for `marquee analytics rebuild`; rollups are kept permanently.',
    90,
    2,
    3650,
  ),
  COUNTRY_DATABASE: text(
    'MaxMind DB file that maps IP addresses to countries, such as GeoLite2-Country.mmdb. Default: the bundled database.',
  ),
  COUNTRY_HEADER: {
    ...text(
      "Header in which the proxies of `TRUST_PROXY` send the viewer's country, such as `CF-IPCountry`; they must set it on every request. Unset: the country is looked up by IP address.",
    ),
    parse: (value: string) => {
      if (!/^[a-z][a-z0-9-]{0,63}$/i.test(value)) throw new Error('must be the name of a header');
      return value;
    },
  },
} satisfies Record<string, Key<unknown>>;

/** Configuration keys whose values may be absent. */
export type AnalyticsKeys = 'COUNTRY_DATABASE' | 'COUNTRY_HEADER';

export interface AnalyticsConfig {
  readonly COUNTRY_DATABASE: string | undefined;
  readonly COUNTRY_HEADER: string | undefined;
}

type Read = <T>(name: string, key: Key<T>) => T | undefined;

/** @throws {ConfigError} when COUNTRY_HEADER is set without a trusted proxy. */
export function readAnalytics(read: Read, trusted: TrustProxy) {
  const header = read('COUNTRY_HEADER', ANALYTICS_KEYS.COUNTRY_HEADER);
  if (header !== undefined && trusted === false)
    throw new ConfigError(
      'TRUST_PROXY is required with COUNTRY_HEADER: the sender of the header must be trusted',
    );
  return {
    ANALYTICS_RAW_DAYS: read('ANALYTICS_RAW_DAYS', ANALYTICS_KEYS.ANALYTICS_RAW_DAYS) ?? 90,
    COUNTRY_DATABASE: read('COUNTRY_DATABASE', ANALYTICS_KEYS.COUNTRY_DATABASE),
    COUNTRY_HEADER: header,
  };
}
