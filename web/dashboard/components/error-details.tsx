import { Anchor, Code, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../app/api-error.ts';
import { useSession } from '../app/session.ts';
import { CopyButton } from './copy-button.tsx';

type Go = (options: { href: string }) => unknown;

/**
 * Shows the error code and the request ID that support asks for; the ID links to its log entry through `go`.
 */
export function ErrorDetails({ error, go }: { error: unknown; go: Go }) {
  const { t } = useTranslation();
  if (!(error instanceof ApiError)) return null;
  const { code, requestId } = error;
  return (
    <Stack gap={4}>
      <Text size="sm">
        <Code>{code}</Code>
      </Text>
      {requestId !== null && (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" className="breaks">
            {t('requestId', { requestId })}
          </Text>
          <CopyButton value={requestId} label={t('copyRequestId')} />
        </Group>
      )}
      {requestId !== null && <LogLink requestId={requestId} go={go} />}
    </Stack>
  );
}

/**
 * Links to the logged request, for signed-in users. Toasts are rendered outside the router, so this is a
 * button.
 */
function LogLink({ requestId, go }: { requestId: string; go: Go }) {
  const { t } = useTranslation();
  const search = new URLSearchParams({ requestId });
  if (useSession() === null) return null;
  return (
    <Anchor
      size="sm"
      href={`/dashboard/requests?${search}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go({ href: `/requests?${search}` });
      }}
    >
      {t('toRequest')}
    </Anchor>
  );
}
