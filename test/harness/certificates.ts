import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Certificate authority of one test run. */
export interface TestCa {
  pem: string;
  /** Certificate in a file, for `NODE_EXTRA_CA_CERTS` of a process that should trust it. */
  file: string;
  /** Issues a server certificate for host names and IP addresses. */
  issue(names: string[]): Promise<{ key: string; cert: string }>;
  /** Removes the file. */
  close(): Promise<void>;
}

const ALGORITHM = { keyType: 'ec', algorithm: 'sha256' } as const;

export async function createTestCa(): Promise<TestCa> {
  // The name is unique: a process that trusts two authorities with the same name uses only one.
  const ca = await generate([{ name: 'commonName', value: `Marquee test CA ${randomUUID()}` }], {
    ...ALGORITHM,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'marquee-ca-'));
  const file = join(folder, 'ca.pem');
  await writeFile(file, ca.cert);
  return {
    pem: ca.cert,
    file,
    issue: async (names) => {
      const altNames = names.map((name) =>
        isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name },
      );
      const made = await generate([{ name: 'commonName', value: names[0] ?? 'localhost' }], {
        ...ALGORITHM,
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'keyUsage', digitalSignature: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      });
      return { key: made.private, cert: made.cert };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
