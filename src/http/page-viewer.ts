import type { FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import { originHost, presentedKey } from './plugins/authenticate.ts';
import type { HttpPorts } from './ports.ts';

/** Reader of a public page, if known. */
export interface PageViewer {
  accountId: string;
  /** Dashboard session in the browser; null for a program that acts for the account. */
  sessionId: string | null;
  /** The accounts of the teams that the person is in. */
  teams: readonly string[];
}

/** Finds the reader; null without a sign-in and for an account whose email address is not confirmed. */
export type PageViewers = (asking: Pick<FastifyRequest, 'headers' | 'ip'>) => Promise<PageViewer | null>;

interface Ports extends Pick<HttpPorts, 'keys' | 'verifyUserToken'> {
  sessions: Pick<HttpPorts['sessions'], 'cookie' | 'verify'>;
}

/**
 * Known by the session of the dashboard, or by a key with the user token of the same account
 * (docs/concepts/authentication.md#user-tokens).
 */
export function createPageViewers(ports: Ports): PageViewers {
  return async (asking) => (await bySession(ports, asking)) ?? byToken(ports, asking);
}

const bySession = async ({ sessions }: Ports, { headers, ip }: Parameters<PageViewers>[0]) => {
  const token = sessions.cookie.read(headers);
  if (token === null) return null;
  const session = await sessions.verify(token, {
    ip,
    userAgent: headers['user-agent'] ?? '',
    accountId: null,
  });
  if (!session?.emailVerified) return null;
  const { id: sessionId, own, teams } = session;
  return { accountId: own.accountId, sessionId, teams: teams.map(({ accountId }) => accountId) };
};

const byToken = async (ports: Ports, { headers, ip }: Parameters<PageViewers>[0]) => {
  const token = headers['x-user-token'];
  const key = presentedKey(headers);
  if (typeof token !== 'string' || token === '' || !key?.startsWith('pk_')) return null;
  try {
    const { accountId } = await ports.keys.verify(key, { ip, origin: originHost(headers) });
    const user = await ports.verifyUserToken(token);
    return user?.accountId === accountId ? { accountId, sessionId: null, teams: [] } : null;
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
};
