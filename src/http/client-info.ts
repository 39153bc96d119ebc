import type { FastifyRequest } from 'fastify';
import type { ClientInfo } from '../kernel/client-info.ts';

export function clientInfoOf(
  request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers' | 'hostname'>,
): ClientInfo {
  const { ip, ips, headers, hostname: host } = request;
  // The first address is the peer; another one is present only when the peer is a trusted proxy.
  return { ip, userAgent: headers['user-agent'] ?? '', headers, host, isProxied: (ips?.length ?? 0) > 1 };
}
