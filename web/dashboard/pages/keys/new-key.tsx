import { Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { FirstCall } from './first-call.tsx';
import { KeyForm } from './key-form.tsx';

/**
 * Leads from the form to the new key, shown once, and to a first call; `after` is rendered once the key is
 * stored.
 */
export function NewKey({ after }: { after: ReactNode }) {
  const { t } = useTranslation('keys');
  const [made, setMade] = useState<Shape<'ApiKeyWithSecret'> | null>(null);
  const [isStored, setStored] = useState(false);
  if (made === null) return <KeyForm onMade={setMade} />;
  return (
    <Stack maw={720}>
      {!isStored && (
        <OneTimeSecret
          label={t('made.key', { name: made.name })}
          value={made.key}
          onStored={() => setStored(true)}
        />
      )}
      <FirstCall keyId={made.id} secret={isStored ? '$MARQUEE_KEY' : made.key} />
      {isStored && after}
    </Stack>
  );
}
