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

/** What is needed when something goes wrong, which may be the network: it must be here by then. */
function loadLater(): void {
  loadPrompts().catch(() => {});
}

/** The pages, as soon as it is known who is signed in. */
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
        // The banner says that the API is away, and tries again.
        () => {},
      );
    };
    load();
    onReconnect(() => {
      load();
      // A page whose code did not come is asked for again.
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
