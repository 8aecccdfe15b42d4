import js from '@eslint/js'
import globals from 'globals'
import tseslint from 'typescript-eslint'

/** An object inside another one, spread to save lines. */
const spreadLiteral = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the properties out',
}

export default tseslint.config(
  { ignores: ['dist/', 'dist.new*/', 'data/', '.cache/', 'coverage/', 'console/api/schema.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: globals.node },
  },
  {
    files: ['console/**/*.js'],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/only-throw-error': 'error',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', spreadLiteral],
    },
  },
  {
    files: ['console/**'],
    ignores: ['console/ui/keys.tsx'],
    rules: {
      // So that the help lists every key that works.
      'no-restricted-syntax': [
        'error',
        spreadLiteral,
        ...[
          'JSXAttribute[name.name=/^onKey(Down|Up|Press)/]',
          'CallExpression[callee.property.name="addEventListener"][arguments.0.value=/^key/]',
        ].map((selector) => ({
          selector,
          message: 'Handle keys with useKeys (console/ui/keys.tsx)',
        })),
      ],
    },
  },
)
