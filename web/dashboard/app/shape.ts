import type { components } from './api.generated.ts';

/** The shapes of the API by their names in openapi.json: `Shape<'Playlist'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name];
