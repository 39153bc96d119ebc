import './app/mantine.css';
import './app/app.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { loadTranslations } from './app/i18n.ts';
import { styleNonce } from './app/nonce.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
// The library that locks scrolling under a dialog reads the nonce from here.
Object.assign(window, { __webpack_nonce__: styleNonce });
await loadTranslations();
createRoot(root).render(<App />);
