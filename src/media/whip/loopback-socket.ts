import { createSocket, type Socket } from 'node:dgram';

export const LOOPBACK = '127.0.0.1';
const RECEIVE_BYTES = 2 ** 21;

/** Opens a UDP socket reachable only from this machine. @param port default: any free one. */
export async function openLoopbackSocket(onError: (error: Error) => void, port = 0): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, LOOPBACK, () => {
      socket.off('error', reject);
      resolve();
    });
  });
  socket.on('error', onError);
  socket.setRecvBufferSize(RECEIVE_BYTES);
  return socket;
}
