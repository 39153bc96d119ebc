import { randomBytes } from 'node:crypto';
import { AppError } from '../kernel/errors.ts';
import type { Container } from './container.ts';

/** The created account; secrets set by the operator are null, because they must not be printed. */
export interface Owner {
  email: string;
  password: string | null;
  key: string | null;
}

/**
 * Creates the owner and a FULL_ACCESS key on an empty database. Returns null when accounts exist, or when
 * another node that starts concurrently creates them.
 */
export async function createOwner({ config, accounts, apiKeys }: Container): Promise<Owner | null> {
  if (!(await accounts.isEmpty())) return null;
  const email = config.BOOTSTRAP_EMAIL;
  const password = config.BOOTSTRAP_PASSWORD ?? randomBytes(12).toString('base64url');
  try {
    await accounts.create({ email, password, name: 'Owner', role: 'ADMIN', plan: 'VIP', verified: true });
  } catch (error) {
    if (error instanceof AppError && error.code === 'EMAIL_EXISTS') return null;
    throw error;
  }
  const { key } = await apiKeys.create({
    email,
    name: 'Owner key',
    scope: 'FULL_ACCESS',
    ...(config.BOOTSTRAP_API_KEY === undefined ? {} : { key: config.BOOTSTRAP_API_KEY }),
  });
  return {
    email,
    password: config.BOOTSTRAP_PASSWORD === undefined ? password : null,
    key: config.BOOTSTRAP_API_KEY === undefined ? key : null,
  };
}

/** A capability that this installation lacks. */
export interface StartupWarning {
  name: string;
  text: string;
}

/** Returns the text for the operator on the first start; later starts print only the URLs. */
export function banner(
  config: Container['config'],
  owner: Owner | null,
  notices: readonly StartupWarning[] = [],
): string {
  const lines = [
    '',
    '  Marquee is running.',
    '',
    `  Pages and API   ${config.PUBLIC_URL}   (API at ${config.PUBLIC_URL}/api/v1)`,
    `  Dashboard       ${config.PUBLIC_URL}/dashboard`,
    `  Encoders        ${config.RTMP_URL}   (append the stream key)`,
    ...(config.RTMPS_URL === undefined ? [] : [`                  ${config.RTMPS_URL}`]),
    ...notices.map(({ name, text }) => `  ${name.padEnd(15)} ${text}`),
  ];
  if (owner !== null) {
    lines.push(
      '',
      '  Save these now, they are shown only once:',
      `  Owner           ${owner.email}`,
      `  Password        ${owner.password ?? '(value of BOOTSTRAP_PASSWORD)'}`,
      `  API key         ${owner.key ?? '(value of BOOTSTRAP_API_KEY)'}   (FULL_ACCESS)`,
      '',
      '  Try it:',
      `  curl -s ${config.PUBLIC_URL}/api/v1/streams -H "Authorization: Bearer ${owner.key ?? '$BOOTSTRAP_API_KEY'}" \\`,
      `    -H 'Content-Type: application/json' -d '{"title":"My first stream"}'`,
    );
  }
  return `${lines.join('\n')}\n\n`;
}
