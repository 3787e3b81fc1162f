package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"
)

// ask sends the requests of its input, one per line, and writes the answers in the same order.
func ask() *cobra.Command {
	var server, token string
	command := &cobra.Command{
		Use: "ask",
		RunE: func(*cobra.Command, []string) error {
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			client := &http.Client{Transport: transport}
			input, output := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)
			for {
				line, err := input.ReadBytes('\n')
				if err == io.EOF {
					return nil
				}
				if err != nil {
					return err
				}
				var asked struct {
					Method, Path string
					Body         json.RawMessage
				}
				if err := json.Unmarshal(line, &asked); err != nil {
					return err
				}
				request, err := http.NewRequest(asked.Method, server+asked.Path, bytes.NewReader(asked.Body))
				if err != nil {
					return err
				}
				request.Header.Set("Authorization", "Bearer "+token)
				kind := "application/json"
				if asked.Method == http.MethodPatch {
					kind = "application/merge-patch+json"
				}
				request.Header.Set("Content-Type", kind)
				answer := map[string]any{"code": 0}
				if response, err := client.Do(request); err == nil {
					body, _ := io.ReadAll(response.Body)
					response.Body.Close()
					answer["code"] = response.StatusCode
					if json.Valid(body) {
						answer["body"] = json.RawMessage(body)
					} else {
						answer["body"] = string(body)
					}
				}
				written, err := json.Marshal(answer)
				if err != nil {
					return err
				}
				output.Write(append(written, '\n'))
				if err := output.Flush(); err != nil {
					return err
				}
			}
		},
	}
	command.Flags().StringVar(&server, "server", "", "address of the API server")
	command.Flags().StringVar(&token, "token", "", "token of the user")
	return command
}
