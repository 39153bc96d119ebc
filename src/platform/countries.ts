import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Reader } from 'mmdb-lib';
import { ConfigError } from './config-parsers.ts';

/** Offline lookup of the country of an IP address. */
export interface Countries {
  /**
   * Returns the two-letter ISO 3166-1 code, or `ZZ` for an address without a known country, such as a private
   * one.
   */
  of(ip: string): string;
}

export const NOWHERE = 'ZZ';
const CODE = /^[A-Z]{2}$/;

/**
 * Reads the database once, when the first address is looked up: 30 ms, 9 MB; a lookup takes 5 µs.
 *
 * @param file path of the operator's own database in the MaxMind DB format; undefined: the shipped one.
 * @throws {ConfigError} immediately, when the operator's file cannot be read.
 */
export function createCountries(file: string | undefined): Countries {
  let reader: Reader<never> | null = null;
  const open = (path: string) => {
    reader = new Reader<never>(readFileSync(path));
    return reader;
  };
  if (file !== undefined) {
    try {
      open(file);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it is not in the MaxMind DB format';
      throw new ConfigError(`COUNTRY_DATABASE cannot be read: ${reason}`);
    }
  }
  return {
    of(ip) {
      const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
      if (isIP(plain) === 0) return NOWHERE;
      reader ??= open(shippedFile());
      return countryCode(codeIn(reader.get(plain)));
    },
  };
}

/** docs/decisions/views-and-viewers.md#viewer-properties */
function shippedFile(): string {
  const name = import.meta.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb');
  return fileURLToPath(name);
}

/** Normalizes a country code from a database or a proxy. Some sources send `XX` for an unknown country. */
export function countryCode(said: unknown): string {
  const code = typeof said === 'string' ? said.trim().toUpperCase() : '';
  return CODE.test(code) && code !== 'XX' ? code : NOWHERE;
}

/**
 * Returns the country code of a record of GeoLite2, DB-IP and most other databases, or of the shipped
 * database.
 */
function codeIn(record: unknown): unknown {
  if (!isRecord(record)) return null;
  const { country } = record;
  return isRecord(country) ? country.iso_code : record.country_code;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
