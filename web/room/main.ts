import { createMesh } from './client/mesh.ts';
import { RoomClient } from './client/room-client.ts';

export const engines = { mesh: async () => createMesh };
export { RoomClient };
