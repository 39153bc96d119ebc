import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { confirmLeave, hasUnsaved } from './unsaved.ts';

/** Another page or another tab of it unmounts the forms; filters and dialogs in the URL do not. */
const shouldBlockFn: ShouldBlockFn = async ({ current, next }) => {
  const stays = current.pathname === next.pathname && tabOf(current.search) === tabOf(next.search);
  return !stays && !(await confirmLeave());
};

function tabOf(search: object): unknown {
  return 'tab' in search ? search.tab : undefined;
}

const options = { shouldBlockFn, enableBeforeUnload: hasUnsaved };

/** Asks for confirmation before unsaved changes are lost. */
export function UnsavedGuard(): null {
  useBlocker(options);
  return null;
}
