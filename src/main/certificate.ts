import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Certificate } from '../media/ingest/embedded-rtmp.ts';
import { type Config, ConfigError } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';

type Files = Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>;

/**
 * The certificate of the RTMPS port; null where there is none.
 *
 * @throws {ConfigError} naming the file that cannot be read, or both when they do not fit.
 */
export async function readCertificate(files: Files): Promise<Certificate | null> {
  if (files.TLS_CERT_FILE === undefined || files.TLS_KEY_FILE === undefined) return null;
  const [cert, key] = await Promise.all([
    readText('TLS_CERT_FILE', files.TLS_CERT_FILE),
    readText('TLS_KEY_FILE', files.TLS_KEY_FILE),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new ConfigError(
      `TLS_CERT_FILE and TLS_KEY_FILE are not a valid certificate and key: ${messageOf(error)}`,
    );
  }
  return { cert, key };
}

async function readText(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${name} cannot be read: ${messageOf(error)}`);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Passes a renewed certificate on; a broken or partially written one is ignored. */
export function watchCertificate(
  files: Files,
  first: Certificate,
  { log, renew }: { log: Logger; renew(certificate: Certificate): void },
): () => Promise<void> {
  let known = first;
  return async () => {
    try {
      const now = await readCertificate(files);
      if (now === null || (now.cert === known.cert && now.key === known.key)) return;
      renew(now);
      known = now;
      log.info('RTMPS certificate reloaded');
    } catch (error) {
      log.warn({ err: error }, 'cannot reload the RTMPS certificate');
    }
  };
}
