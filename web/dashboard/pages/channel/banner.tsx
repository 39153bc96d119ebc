import { Box, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../app/api.ts';
import { ImagePicker } from '../../components/image-picker.tsx';

const ME = { path: { id: 'me' } };

/** Sends a file in a multipart body, which the types of the client do not support. */
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
        <ImagePicker
          word={(name) => t(`banner.${name}`)}
          hasPicture={url !== null}
          put={put}
          remove={remove}
          onRemove={() => remove.mutateAsync({ params: ME })}
        />
      </Group>
    </Stack>
  );
}
