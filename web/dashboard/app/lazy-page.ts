import { lazyRouteComponent } from '@tanstack/react-router';
import { API_UNREACHABLE, ApiError } from './api-error.ts';
import { isServerReachable } from './connection.ts';

/**
 * A page that is loaded when it is opened: `lazyPage(() => import('./limits-page.tsx'), 'LimitsPage')`. After an
 * upgrade, when its file is gone, the router loads the whole site anew; while the server is away that would leave
 * nothing, so the page says so instead.
 */
export function lazyPage<Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (cause) {
      if (await isServerReachable()) throw cause;
      throw new ApiError({ status: 0, code: API_UNREACHABLE, message: 'Server not responding.', cause });
    }
  }, name);
}
