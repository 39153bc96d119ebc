import { ActionIcon, CopyButton as Copying } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CheckIcon, CopyIcon } from './icons.tsx';

/**
 * Copies `value` and confirms it visually and to screen readers. `label` names the value: "Copy the request
 * id".
 */
export function CopyButton({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation();
  return (
    <Copying value={value}>
      {({ copied, copy }) => (
        <>
          <ActionIcon aria-label={label} title={label} onClick={copy}>
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
          <span role="status" className="hidden-words">
            {copied && t('copied')}
          </span>
        </>
      )}
    </Copying>
  );
}
