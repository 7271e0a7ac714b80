package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// access is how clients reach the API server, and the files that say so.
type access struct {
	url string
	// admin is the token of a user of system:masters.
	admin string
	// certificates is where the API server leaves its certificate, and ca the
	// certificate itself.
	certificates, ca string
	// tokens and key are read by the API server.
	tokens, key string
	// kubeconfig and manager are for people and for the controller manager.
	kubeconfig, manager string
}

func newAccess(dir string, port int) (access, error) {
	a := access{
		url:          fmt.Sprintf("https://127.0.0.1:%d", port),
		admin:        rand.Text(),
		certificates: filepath.Join(dir, "certificates"),
		tokens:       filepath.Join(dir, "tokens.csv"),
		key:          filepath.Join(dir, "service-account.pem"),
		kubeconfig:   filepath.Join(dir, "kubeconfig"),
		manager:      filepath.Join(dir, "kube-controller-manager.kubeconfig"),
	}
	a.ca = filepath.Join(a.certificates, "apiserver.crt")
	managerToken := rand.Text()
	key, err := newKey()
	if err != nil {
		return access{}, err
	}
	for name, content := range map[string]string{
		a.tokens: fmt.Sprintf("%s,admin,admin,system:masters\n%s,system:kube-controller-manager,manager,system:masters\n",
			a.admin, managerToken),
		a.key:        key,
		a.kubeconfig: a.config(a.admin),
		a.manager:    a.config(managerToken),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return access{}, err
		}
	}
	return a, nil
}

func newKey() (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})), nil
}

func (a access) config(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: controlplane
clusters:
- name: controlplane
  cluster:
    server: %s
    certificate-authority: %s
users:
- name: controlplane
  user:
    token: %s
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: controlplane
`, a.url, a.ca, token)
}
