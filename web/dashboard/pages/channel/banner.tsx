import { Box, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../app/api.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';

const ME = { path: { id: 'me' } };

/** A file travels as a part of a multipart body, which the types of the client do not know. */
function send(file: File) {
  const form = new FormData();
  form.append('file', file);
  return api.PUT('/channels/{id}/banner', { params: ME, body: {}, bodySerializer: () => form });
}

export function Banner({ url, onChanged }: { url: string | null; onChanged: () => Promise<void> }) {
  const { t } = useTranslation('channel');
  const put = useMutation({ mutationFn: send, onSuccess: onChanged });
  const remove = $api.useMutation('delete', '/channels/{id}/banner', { onSuccess: onChanged });
  return (
    <Stack>
      {url !== null && (
        <Box
          component="img"
          src={url}
          alt={t('banner.alt')}
          mah={240}
          w="100%"
          style={{ objectFit: 'cover' }}
        />
      )}
      <Group>
        <FileButton
          accept="image/png,image/jpeg,image/webp"
          onChange={(file) => {
            if (file !== null) put.mutate(file);
          }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={put.isPending}>
              {t('banner.choose')}
            </Button>
          )}
        </FileButton>
        {url !== null && (
          <ConfirmAction
            label={t('banner.remove')}
            title={t('banner.removeTitle')}
            text={t('banner.removeText')}
            onConfirm={() => remove.mutateAsync({ params: ME })}
            isPending={remove.isPending}
          />
        )}
        <Text size="sm" c="dimmed">
          {t('banner.hint')}
        </Text>
      </Group>
    </Stack>
  );
}
