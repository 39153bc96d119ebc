import { Center, Loader, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queries } from './api.ts';
import { onReconnect } from './connection.ts';
import { styleNonce } from './nonce.ts';
import { OfflineBanner } from './offline-banner.tsx';
import { usePrompt } from './prompts.ts';
import { router } from './router.tsx';
import { loadSession } from './session.ts';
import { theme, variables } from './theme.ts';
import { ToastList } from './toast-list.tsx';

const loadPrompts = () => import('./prompt-dialogs.tsx');
const PromptDialogs = lazy(loadPrompts);

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queries}>
        <OfflineBanner />
        <Pages />
        <ToastList />
        <Suspense>
          <Prompts />
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The dialogs of the session, from the first time that one is needed. */
function Prompts() {
  const [wasNeeded, setNeeded] = useState(false);
  const isOpen = usePrompt() !== null;
  if (isOpen && !wasNeeded) setNeeded(true);
  return wasNeeded && <PromptDialogs />;
}

/**
 * Preloads the modules needed when something fails: the failure may be the network, and they could not be
 * loaded then.
 */
function loadLater(): void {
  loadPrompts().catch(() => {});
}

/** Renders the pages once the session is known. */
function Pages() {
  const { t } = useTranslation();
  const [isKnown, setKnown] = useState(false);
  useEffect(() => {
    let done = false;
    const load = () => {
      if (done) return;
      loadSession().then(
        () => {
          done = true;
          setKnown(true);
          loadLater();
        },
        // The banner shows that the API is unavailable, and retries.
        () => {},
      );
    };
    load();
    onReconnect(() => {
      load();
      // Retries a page whose code could not be loaded.
      void router.invalidate();
    });
  }, []);
  if (isKnown) return <RouterProvider router={router} />;
  return (
    <Center mih="60vh">
      <Loader aria-label={t('loading')} />
    </Center>
  );
}
