import { Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeLine } from '../../components/copy-field.tsx';

const SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the raw bytes of the body, before parsing.
export function verifySignature(rawBody, header, secret) {
  const { t, v1 } = Object.fromEntries(header.split(',').map((part) => part.split('=')));
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const wanted = createHmac('sha256', secret).update(t + '.').update(rawBody).digest();
  const sent = Buffer.from(v1 ?? '', 'hex');
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}`;

/** Shows how an endpoint verifies the header `SVC-Signature` (docs/concepts/webhooks.md#the-request). */
export function HowToVerify() {
  const { t } = useTranslation('webhooks');
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('verify.title')}
      </Title>
      <Text>{t('verify.text')}</Text>
      <CodeLine label={t('verify.sample')} code={SAMPLE} />
    </Stack>
  );
}
