import type { FastifyRequest } from 'fastify';
import type { ClientInfo } from '../kernel/client-info.ts';

export function clientInfoOf(
  request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers' | 'hostname'>,
): ClientInfo {
  const { ip, ips, headers, hostname: host } = request;
  // The first of them is whoever connected; another one is there only where that one is trusted.
  return { ip, userAgent: headers['user-agent'] ?? '', headers, host, isProxied: (ips?.length ?? 0) > 1 };
}
