import {
  GuardError,
  type Outbound,
  OutboundError,
  type TxtResolver,
} from '../../../platform/outbound/index.ts';
import { fileUrl, recordName, type VerificationResult, verificationValue } from './rules.ts';

/**
 * Verifier of domains by a TXT record or a file on the site
 * (docs/decisions/integration-domains.md#the-proof).
 */
export interface DomainVerifier {
  look(domain: { domain: string; token: string; include_subdomains: boolean }): Promise<VerificationResult>;
}

interface Deps {
  txt: Pick<TxtResolver, 'resolve'>;
  fetcher: Pick<Outbound, 'download'>;
}

const FILE_TIMEOUT_MS = 5000;
const FILE_BYTES = 1024;
const FILE_REDIRECTS = 3;

export function createDomainVerifier({ txt, fetcher }: Deps): DomainVerifier {
  return {
    async look({ domain, token, include_subdomains }) {
      const value = verificationValue(token);
      const [record, file] = await Promise.all([
        lookAtRecord(txt, recordName(domain), value),
        lookAtFile(fetcher, fileUrl(domain), value),
      ]);
      const narrow = file === null && include_subdomains ? 'file: subdomains require the TXT record' : file;
      const errors = [record, narrow].filter((error) => error !== null);
      return {
        txt: record === null,
        file: file === null,
        error: errors.length === 0 ? null : errors.join('; '),
      };
    },
  };
}

/** @returns the problem, or null when the record is present. */
async function lookAtRecord(txt: Deps['txt'], name: string, value: string): Promise<string | null> {
  try {
    const records = await txt.resolve(name);
    if (records.includes(value)) return null;
    return records.length === 0
      ? `dns: no TXT record at ${name}`
      : `dns: no TXT record at ${name} has the value`;
  } catch (error) {
    return messageOf(error);
  }
}

/** @returns the problem, or null when the file is present and one of its lines is the value. */
async function lookAtFile(fetcher: Deps['fetcher'], url: string, value: string): Promise<string | null> {
  try {
    const { status, bytes, complete } = await fetcher.download({
      url,
      headers: { accept: 'text/plain', 'accept-encoding': 'identity' },
      timeoutMs: FILE_TIMEOUT_MS,
      maxBytes: FILE_BYTES,
      maxRedirects: FILE_REDIRECTS,
      sameHost: true,
    });
    if (status !== 200) return `file: answered ${status}`;
    if (!complete) return `file: longer than ${FILE_BYTES} bytes, or truncated`;
    const lines = bytes.toString('utf8').split(/\r?\n/);
    return lines.some((line) => line.trim() === value) ? null : 'file: does not contain the value';
  } catch (error) {
    return `file: ${messageOf(error)}`;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof GuardError || error instanceof OutboundError) return error.message;
  throw error;
}
