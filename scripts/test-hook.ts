import asyncHooks from 'node:async_hooks';

const { createHook } = asyncHooks;
let hook: asyncHooks.AsyncHook | undefined;

// Evaluated before node:test, which creates its hook when it is loaded.
Object.assign(asyncHooks, {
  createHook(callbacks: asyncHooks.HookCallbacks): asyncHooks.AsyncHook {
    Object.assign(asyncHooks, { createHook });
    hook = createHook(callbacks);
    return hook;
  },
});

/**
 * Disables the hook by which node:test knows the test of every promise, an eighth of the processor time of the API
 * tests. Tests need it only while files declare them. Without it, an uncaught exception fails the process and not the
 * test that caused it; `node --test <file>` names that test.
 */
export function stopTracking(): void {
  hook?.disable();
}
