import type { Socket } from 'node:dgram';
import { openLoopbackSocket } from '../whip/loopback-socket.ts';

/** Pair of adjacent ports: packets are sent from the first, and RTCP of the viewers arrives at the second. */
export interface PortPair {
  rtp: Socket;
  rtcp: Socket;
}

const TRIES = 50;

/** @throws {Error} when no ports are free. */
export async function openPortPair(onError: (error: Error) => void): Promise<PortPair> {
  for (let left = TRIES; ; left -= 1) {
    const rtp = await openLoopbackSocket(onError);
    try {
      return { rtp, rtcp: await openLoopbackSocket(onError, rtp.address().port + 1) };
    } catch (error) {
      rtp.close();
      if (left === 0) throw error;
    }
  }
}
